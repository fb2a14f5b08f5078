dapple show column.dbdf
