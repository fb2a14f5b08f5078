dapple info --rows 1:2 mixed.dbdf
