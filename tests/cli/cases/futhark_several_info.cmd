dapple info values.in
