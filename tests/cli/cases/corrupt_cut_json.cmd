dapple info cut.dbdf --json
