dapple show wide.dbdf --what density --size 60x18
