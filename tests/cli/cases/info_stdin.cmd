dapple info - < mixed.dbdf
