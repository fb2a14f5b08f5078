dapple info --json mixed.dbdf gap.dbdf
