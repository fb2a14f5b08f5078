dapple show mixed.dbdf --what min --size 40x22
