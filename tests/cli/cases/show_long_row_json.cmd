dapple show long_row.dbdf --json
