dapple verify cut.dbdf
