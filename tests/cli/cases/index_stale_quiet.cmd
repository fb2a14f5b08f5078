dapple index -q mixed.dbdf; cat gap.dbdf > mixed.dbdf; dapple get -q mixed.dbdf --rows :1
