dapple convert mixed.dbdf a.csv --tile 2x2
