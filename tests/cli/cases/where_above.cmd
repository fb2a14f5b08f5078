dapple where gap.dbdf '> 2' --absent zero
