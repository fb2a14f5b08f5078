dapple get irregular.dbdf --rows 1:2 && dapple get --rows 1:2 irregular.dbdf && dapple get --rows=1:2 -- irregular.dbdf
