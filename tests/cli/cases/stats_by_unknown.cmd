dapple stats gap.dbdf --by tile
