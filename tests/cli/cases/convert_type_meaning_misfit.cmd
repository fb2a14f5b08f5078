printf 'a\ntrue\nperhaps\n' > in.csv
dapple convert in.csv out.dbdf --type a=boolean
