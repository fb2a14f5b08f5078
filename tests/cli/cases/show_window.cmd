dapple show many.dbdf --rows 100:120 --size 40x20
