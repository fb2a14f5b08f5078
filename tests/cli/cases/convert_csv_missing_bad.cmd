dapple convert holes.csv a.dbdf --missing zero
