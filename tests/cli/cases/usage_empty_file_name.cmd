dapple info ""
