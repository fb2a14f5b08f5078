dapple info many.dbdf
