#! tty 40
LC_ALL=C.UTF-8 TERM=xterm NO_COLOR=1 dapple show irregular.dbdf
