dapple convert plain.csv a.csv --no-header && cat a.csv
