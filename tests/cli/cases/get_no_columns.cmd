dapple get no_columns.dbdf
