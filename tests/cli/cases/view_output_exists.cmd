touch a.html
dapple view mixed.dbdf -o a.html
