dapple show mixed.dbdf --what sum
