dapple info -q gap.dbdf
