dapple verify texts.idv --payload
