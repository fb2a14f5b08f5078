dapple show frame.dbdf --size 40x20
