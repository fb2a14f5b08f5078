dapple get mixed.dbdf --tile 1,1
