dapple get labels.dbdf --column ""
