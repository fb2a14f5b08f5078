dapple get folder/missing/a.dbdf
