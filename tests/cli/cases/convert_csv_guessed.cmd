dapple convert table.csv a.dbdf && dapple info a.dbdf | sed -n 2,5p
