dapple info texts.idv
