dapple get irregular.dbdf --force
