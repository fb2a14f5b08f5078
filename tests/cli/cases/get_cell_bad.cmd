dapple get mixed.dbdf --cell 4,-1
