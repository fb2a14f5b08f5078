dapple repair missing.dbdf -o a.dbdf
