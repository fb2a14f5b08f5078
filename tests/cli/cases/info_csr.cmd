dapple info csr.dbdf
