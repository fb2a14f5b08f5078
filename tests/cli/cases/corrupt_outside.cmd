dapple info outside.dbdf
