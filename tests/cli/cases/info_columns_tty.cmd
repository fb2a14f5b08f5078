#! tty 80
dapple info columns.dbdf
