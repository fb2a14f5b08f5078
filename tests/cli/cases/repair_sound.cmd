dapple repair mixed.dbdf -o a.dbdf && dapple get a.dbdf
