dapple view mixed.dbdf -o a.html --exact
