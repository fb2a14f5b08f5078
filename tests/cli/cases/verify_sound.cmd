dapple verify mixed.dbdf
