dapple get mixed.dbdf --block 3,0
