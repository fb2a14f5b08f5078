dapple view plain.csv -o plain.csv.dpp && dapple show plain.csv --delimiter , --from-stats --size 40x18
