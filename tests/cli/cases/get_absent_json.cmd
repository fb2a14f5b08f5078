dapple get gap.dbdf --json
