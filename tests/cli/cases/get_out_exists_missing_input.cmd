echo old > a.csv; dapple get missing.dbdf -o a.csv
