dapple info texts.idv --json
