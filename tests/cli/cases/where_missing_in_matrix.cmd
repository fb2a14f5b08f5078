dapple where gap.dbdf missing
