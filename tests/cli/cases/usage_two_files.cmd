dapple info mixed.dbdf gap.dbdf
