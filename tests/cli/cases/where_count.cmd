dapple where gap.dbdf '== 0' --absent zero --count
