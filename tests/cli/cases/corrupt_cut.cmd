dapple info cut.dbdf
