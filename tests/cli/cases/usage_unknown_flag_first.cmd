dapple --json info mixed.dbdf
