dapple view mixed.dbdf --port 70000
