dapple get irregular.dbdf --rows 1:4 --json
