dapple info /dev/null
