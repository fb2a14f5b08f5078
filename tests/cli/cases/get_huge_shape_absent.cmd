dapple get big.dbdf --rows 999999999999: --cols 5:6
