#! tty 40
TERM=xterm dapple show irregular.dbdf
