dapple info gap.dbdf
