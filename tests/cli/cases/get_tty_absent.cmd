#! tty 80
dapple get gap.dbdf
