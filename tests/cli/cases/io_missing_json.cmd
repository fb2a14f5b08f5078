dapple info missing.dbdf --json
