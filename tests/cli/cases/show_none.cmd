dapple show none.dbdf
