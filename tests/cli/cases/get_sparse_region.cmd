dapple get mixed.dbdf --sparse --rows 1:4 --cols 1:3
