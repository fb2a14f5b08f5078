dapple get mixed.dbdf --block 0,0 --rows 1:2
