dapple get csr.dbdf --sparse -o a.csv
