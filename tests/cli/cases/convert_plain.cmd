dapple convert numbers.dbdf a.dbdf --plain -q && dapple blocks a.dbdf --all && dapple info a.dbdf | tail -n 1
