#! tty 5
dapple get irregular.dbdf
