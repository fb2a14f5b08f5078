dapple blocks padded.dbdf
