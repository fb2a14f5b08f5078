dapple get mixed.dbdf --cell 5,0
