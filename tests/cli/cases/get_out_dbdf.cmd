dapple get irregular.dbdf --rows 1: -o a.dbdf && dapple get a.dbdf
