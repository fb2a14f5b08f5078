dapple where gap.dbdf '> 300' --absent zero --explain
