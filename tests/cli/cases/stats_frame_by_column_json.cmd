dapple stats frame.dbdf --by column --json
