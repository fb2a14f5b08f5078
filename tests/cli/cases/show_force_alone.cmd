dapple show mixed.dbdf --force
