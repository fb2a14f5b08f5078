dapple verify mixed.dbdf --json
