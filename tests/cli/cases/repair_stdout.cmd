dapple repair cut.dbdf -o -
