dapple get mixed.dbdf --value 1 --json
