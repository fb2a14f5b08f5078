dapple index --columns frame.dbdf
