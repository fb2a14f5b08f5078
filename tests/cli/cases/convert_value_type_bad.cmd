dapple convert mixed.dbdf a.dbdf --value-type double
