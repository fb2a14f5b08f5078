dapple get mixed.dbdf --block 1,0 --json
