dapple convert frame.dbdf a.csv --column id --column größe && cat a.csv
