echo old > a.dbdf; dapple repair mixed.dbdf -o a.dbdf --force
