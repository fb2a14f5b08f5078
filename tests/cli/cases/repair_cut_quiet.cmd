dapple repair cut.dbdf -o a.dbdf -q
