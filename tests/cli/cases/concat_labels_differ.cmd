printf 'a,b\n1,2\n' > a.csv
printf 'a,c\n1,2\n' > b.csv
dapple concat a.csv b.csv -o both.dbdf
