dapple get noise.dbdf --json
