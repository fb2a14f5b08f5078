dapple get numbers.dbdf --sparse
