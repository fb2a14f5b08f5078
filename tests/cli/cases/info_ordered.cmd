dapple info ordered.dbdf
dapple info ordered.dbdf --json
