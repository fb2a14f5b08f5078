dapple show mixed.dbdf --size 0x10
