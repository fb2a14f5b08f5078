dapple info --json none.dbdf
