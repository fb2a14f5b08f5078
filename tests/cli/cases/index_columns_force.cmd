dapple index --columns --force mixed.dbdf
