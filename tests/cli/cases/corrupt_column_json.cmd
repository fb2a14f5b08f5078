dapple get column.dbdf --json
