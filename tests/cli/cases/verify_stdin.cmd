dapple verify - < mixed.dbdf
