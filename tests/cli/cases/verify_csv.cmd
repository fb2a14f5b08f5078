dapple verify table.csv --payload
