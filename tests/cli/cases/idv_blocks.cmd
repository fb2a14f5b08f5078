dapple blocks texts.idv
