# Only the values of the empty block are known, and they say nothing of the whole.
dapple show mixed.dbdf --from-stats --size 40x12
