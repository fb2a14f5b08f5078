dapple index -q mixed.dbdf && dapple info mixed.dbdf | tail -n 1 && dapple get mixed.dbdf --block 3,0
