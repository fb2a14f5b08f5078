dapple info
