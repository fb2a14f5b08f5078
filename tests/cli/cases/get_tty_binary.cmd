#! tty 80
dapple get irregular.dbdf --to npy
