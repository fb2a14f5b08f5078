dapple verify outside.dbdf
