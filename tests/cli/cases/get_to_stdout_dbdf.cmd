dapple get irregular.dbdf --to dbdf
