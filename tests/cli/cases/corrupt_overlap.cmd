dapple info overlap.dbdf
