dapple verify cut.dbdf --json
