dapple get irregular.dbdf --rows 7:
