#! tty 80
dapple get texts.idv
