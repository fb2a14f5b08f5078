dapple show plain.csv --size 40x18
