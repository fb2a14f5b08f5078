dapple info mixed.dbdf
