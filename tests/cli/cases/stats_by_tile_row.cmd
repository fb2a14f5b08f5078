dapple stats mixed.dbdf --by tile-row
