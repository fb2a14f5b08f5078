#! tty 80
dapple get none.dbdf
