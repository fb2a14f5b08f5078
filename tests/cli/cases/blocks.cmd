dapple blocks mixed.dbdf
