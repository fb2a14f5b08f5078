dapple get irregular.dbdf -o folder --to csv --force
