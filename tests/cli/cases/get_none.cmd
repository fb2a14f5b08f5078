dapple get none.dbdf
