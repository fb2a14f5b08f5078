dapple blocks mixed.dbdf --json
