#! tty 80
dapple get frame.dbdf
