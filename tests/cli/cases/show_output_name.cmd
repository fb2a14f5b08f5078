dapple show mixed.dbdf -o a.gif
