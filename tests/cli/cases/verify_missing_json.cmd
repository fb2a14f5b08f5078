dapple verify missing.dbdf --json
