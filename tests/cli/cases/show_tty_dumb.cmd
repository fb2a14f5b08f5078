#! tty 40
LC_ALL=C.UTF-8 TERM=dumb dapple show irregular.dbdf
