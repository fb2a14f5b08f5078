dapple info padded.dbdf
