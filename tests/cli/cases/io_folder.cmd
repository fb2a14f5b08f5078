dapple info folder
