dapple verify -q mixed.dbdf
