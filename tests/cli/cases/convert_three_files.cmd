dapple convert a b c
