dapple convert - a.dbdf --from csv < table.csv && dapple get a.dbdf
