dapple get mixed.dbdf --rows --cols 1:2
