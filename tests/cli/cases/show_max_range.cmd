dapple show irregular.dbdf --what max --range 2:8 --size 40x20
