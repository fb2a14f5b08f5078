dapple get irregular.dbdf --rows 1:3 --cols 1:2
