dapple info --json irregular.dbdf
