dapple show mixed.dbdf --what kind --size 40x22
