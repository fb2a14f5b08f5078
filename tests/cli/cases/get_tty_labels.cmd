#! tty 80
dapple get labels.dbdf
