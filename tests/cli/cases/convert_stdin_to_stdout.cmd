dapple convert - - --from csv --to mtx < plain.csv
