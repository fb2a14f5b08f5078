dapple get irregular.dbdf -o a.csv && cat a.csv
