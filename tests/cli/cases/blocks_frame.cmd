dapple blocks frame.dbdf
