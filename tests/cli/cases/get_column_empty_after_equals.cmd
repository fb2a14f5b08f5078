dapple get labels.dbdf --column= --column ""
