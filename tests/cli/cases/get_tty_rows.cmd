#! tty 80
dapple get irregular.dbdf --rows 1: --cols 1:
