dapple index - < mixed.dbdf
