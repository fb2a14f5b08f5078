dapple repair - -o a.dbdf < cut.dbdf
