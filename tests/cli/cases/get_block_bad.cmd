dapple get mixed.dbdf --block 3
