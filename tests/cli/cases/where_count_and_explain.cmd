dapple where gap.dbdf '> 5' --count --explain
