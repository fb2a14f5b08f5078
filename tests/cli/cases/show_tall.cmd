dapple show many.dbdf --size 40x20
