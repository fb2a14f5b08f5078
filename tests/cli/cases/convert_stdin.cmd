dapple convert - a.csv < irregular.dbdf && cat a.csv
