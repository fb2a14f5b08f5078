dapple show no_columns.dbdf
