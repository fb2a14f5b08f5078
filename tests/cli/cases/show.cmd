dapple show mixed.dbdf
