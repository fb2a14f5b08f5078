dapple get mixed.dbdf -o a.csv -o b.csv
