dapple show mixed.dbdf --range 5
