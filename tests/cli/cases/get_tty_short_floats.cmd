#! tty 60
dapple get csr.dbdf --short-floats
