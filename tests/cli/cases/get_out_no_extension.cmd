dapple get irregular.dbdf -o a
