dapple blocks padded.dbdf --all --json
