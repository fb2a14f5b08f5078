touch a.png
dapple show mixed.dbdf -o a.png
