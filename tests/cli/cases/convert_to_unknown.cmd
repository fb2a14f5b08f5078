dapple convert mixed.dbdf a --to xls
