dapple get numbers.dbdf
