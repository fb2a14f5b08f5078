dapple info -h | head -n 1
