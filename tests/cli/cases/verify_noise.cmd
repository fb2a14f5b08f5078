dapple verify noise.dbdf
