dapple blocks irregular.dbdf
