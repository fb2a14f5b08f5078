printf 'id,n\n9007199254740993,1\n,2\n' > r.csv
dapple get r.csv --missing nan
