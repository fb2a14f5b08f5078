dapple verify nothing.dbdf
