dapple info columns.dbdf
