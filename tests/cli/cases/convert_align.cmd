dapple convert numbers.dbdf a.dbdf --align 4096 -q && dapple blocks a.dbdf --all | head -n 3
