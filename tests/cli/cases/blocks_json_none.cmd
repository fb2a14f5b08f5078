dapple blocks none.dbdf --json
