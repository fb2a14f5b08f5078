echo old > a.csv; dapple get irregular.dbdf -o a.csv --force && cat a.csv
