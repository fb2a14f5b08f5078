dapple stats gap.dbdf --absent zero --by row --json
