dapple get irregular.dbdf --rows 0:18446744073709551616
