dapple verify overlap.dbdf
