dapple info irregular.dbdf
