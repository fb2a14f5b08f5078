dapple where gap.dbdf '~ 5'
