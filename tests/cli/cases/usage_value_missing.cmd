dapple get mixed.dbdf --rows
