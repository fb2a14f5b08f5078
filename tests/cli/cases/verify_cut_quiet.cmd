dapple verify cut.dbdf -q
