dapple get csr.dbdf --sparse
