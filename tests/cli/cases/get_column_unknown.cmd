dapple get frame.dbdf --column weight
