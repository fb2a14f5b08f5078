dapple get frame.dbdf --column id --column id --rows :1
