dapple blocks padded.dbdf --all
