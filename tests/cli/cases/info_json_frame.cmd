dapple info --json frame.dbdf
