dapple info none.dbdf
