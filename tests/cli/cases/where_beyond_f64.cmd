dapple where gap.dbdf '<= 1e999'
