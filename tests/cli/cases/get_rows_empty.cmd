dapple get irregular.dbdf --rows 1:1
