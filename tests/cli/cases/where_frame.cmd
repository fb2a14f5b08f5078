dapple where frame.dbdf '> 5'
