#! tty 80
dapple get frame.dbdf --rows 1:1
