dapple get irregular.dbdf --rows 2
