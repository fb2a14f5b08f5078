dapple convert texts.idv a.dbdf --json
