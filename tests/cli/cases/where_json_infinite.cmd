printf '1,inf\n-inf,nan\n' > i.csv
dapple where i.csv '>0' --json; dapple where i.csv '<0' --json; dapple where i.csv nan --json
printf 'a,b\ninf,1\nNA,2\nnan,3\n' > f.csv; dapple where f.csv '>0' --column a --json; dapple where f.csv missing --column a --json
