printf 'a,b\n-0,1\n9007199254740993,2\n' > z.csv
dapple get z.csv
dapple get z.csv --type a=f64
dapple get z.csv --type a=text
