printf '1\n2\n' > one.csv
printf '1,2\n' > two.csv
dapple concat two.csv one.csv -o out.dbdf
