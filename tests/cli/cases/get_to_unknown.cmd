dapple get irregular.dbdf --to xls
