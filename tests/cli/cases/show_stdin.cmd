dapple show - <irregular.dbdf --size 40x18
