dapple view mixed.dbdf -o a.png
