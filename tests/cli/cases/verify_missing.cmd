dapple verify missing.dbdf
