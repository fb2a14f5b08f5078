dapple verify twice.dbdf --payload --json
