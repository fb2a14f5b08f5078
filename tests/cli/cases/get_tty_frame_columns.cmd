#! tty 80
dapple get frame.dbdf --column größe --column id
