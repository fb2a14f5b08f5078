dapple show mixed.dbdf --range a:5
