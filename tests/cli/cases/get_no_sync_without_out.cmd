dapple get irregular.dbdf --no-sync
