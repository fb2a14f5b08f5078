dapple info --help
