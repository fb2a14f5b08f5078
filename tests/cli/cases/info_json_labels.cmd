dapple info --json labels.dbdf
