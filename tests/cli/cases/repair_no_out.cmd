dapple repair cut.dbdf
