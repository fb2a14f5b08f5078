#! tty 50
dapple get wide.dbdf
