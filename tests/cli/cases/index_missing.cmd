dapple index missing.dbdf
