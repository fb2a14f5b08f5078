dapple get labels.dbdf
