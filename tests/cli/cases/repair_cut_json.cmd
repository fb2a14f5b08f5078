dapple repair cut.dbdf -o a.dbdf --json
