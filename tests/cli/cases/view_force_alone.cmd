dapple view mixed.dbdf --force
