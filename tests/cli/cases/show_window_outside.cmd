dapple show mixed.dbdf --rows 4:9
