dapple get mixed.dbdf
