dapple convert plain.csv a.csv --no-header --header
