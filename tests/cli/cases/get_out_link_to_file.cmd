echo old > b.csv
ln -s b.csv a.csv
dapple get irregular.dbdf -o a.csv --force && cat a.csv b.csv
