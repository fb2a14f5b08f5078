dapple get mixed.dbdf --block 0,0 --tile 0,0
