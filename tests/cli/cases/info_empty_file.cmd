: > nothing
dapple info nothing
