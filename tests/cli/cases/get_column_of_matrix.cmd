dapple get mixed.dbdf --column a
