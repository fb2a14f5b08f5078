dapple get irregular.dbdf --tile 0,0
