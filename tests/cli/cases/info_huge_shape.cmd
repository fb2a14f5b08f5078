dapple info big.dbdf
