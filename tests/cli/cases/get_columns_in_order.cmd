dapple get frame.dbdf --column größe --column 'price, net' --rows 1:
