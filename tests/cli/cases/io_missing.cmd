dapple info missing.dbdf
