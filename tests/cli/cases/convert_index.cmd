dapple convert numbers.dbdf a.dbdf -q && dapple info a.dbdf | tail -n 1
