dapple concat -o x.dbdf
