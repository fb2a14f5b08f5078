dapple show long_row.dbdf
