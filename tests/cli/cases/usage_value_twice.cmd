dapple get mixed.dbdf --rows 1:2 --rows 2:3
