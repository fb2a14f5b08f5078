dapple get mixed.dbdf --tile 1x1
