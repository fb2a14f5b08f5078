dapple info --json mixed.dbdf
