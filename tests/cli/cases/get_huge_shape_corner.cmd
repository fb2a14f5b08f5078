dapple get big.dbdf --rows 5:7 --cols 4000000000:4000000002
