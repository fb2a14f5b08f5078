dapple show wide.dbdf --what mean --scale log --range 1: --size 60x18
