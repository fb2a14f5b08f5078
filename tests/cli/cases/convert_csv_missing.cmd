dapple convert holes.csv a.dbdf
