dapple convert holes.csv a.dbdf --missing nan && dapple get a.dbdf
