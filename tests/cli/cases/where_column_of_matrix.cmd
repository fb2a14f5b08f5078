dapple where gap.dbdf '> 5' --column a
