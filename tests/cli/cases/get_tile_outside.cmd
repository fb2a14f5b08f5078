dapple get mixed.dbdf --tile 2,0
