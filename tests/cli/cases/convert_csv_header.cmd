dapple convert plain.csv a.csv --header && cat a.csv
