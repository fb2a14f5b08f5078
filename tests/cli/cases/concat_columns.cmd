printf '1,2\n3,4\n' > a.csv
printf '5.5\n6\n' > b.csv
dapple concat a.csv b.csv --by columns -o - --to csv
