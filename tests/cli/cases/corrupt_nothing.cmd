dapple info nothing.dbdf
