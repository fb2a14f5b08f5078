dapple index -q mixed.dbdf; cat gap.dbdf > mixed.dbdf; dapple info mixed.dbdf; dapple get mixed.dbdf --rows :1
