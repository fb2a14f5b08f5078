#! tty 80
dapple get gap.dbdf --absent zero
