dapple get irregular.dbdf --to mtx
