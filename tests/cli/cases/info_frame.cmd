dapple info frame.dbdf
