dapple info values.in --json
