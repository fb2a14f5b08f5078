dapple info --json csr.dbdf
