dapple index -q mixed.dbdf && dapple index mixed.dbdf
