dapple get frame.dbdf --column id
