dapple -h
