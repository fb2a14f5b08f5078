dapple
