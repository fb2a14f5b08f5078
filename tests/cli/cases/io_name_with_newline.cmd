dapple info 'a
b'
