printf '1,inf\n-inf,nan\n' > i.csv; dapple stats i.csv --json; dapple stats i.csv --json --by row
printf 'nan,nan\n' > n.csv; dapple stats n.csv --json
