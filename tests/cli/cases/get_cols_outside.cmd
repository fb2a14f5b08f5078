dapple get irregular.dbdf --cols 3:5
