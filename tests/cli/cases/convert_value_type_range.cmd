dapple convert mixed.dbdf a.csv --value-type u8 --allow-loss
