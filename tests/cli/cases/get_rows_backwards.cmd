dapple get irregular.dbdf --rows 2:1
