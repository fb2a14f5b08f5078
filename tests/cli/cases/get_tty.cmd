#! tty 80
dapple get mixed.dbdf
