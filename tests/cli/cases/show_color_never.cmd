#! tty 40
LC_ALL=C.UTF-8 TERM=xterm dapple show irregular.dbdf --color never --size 30x18
