dapple info type.dbdf
