dapple get frame.dbdf --cols 0:1 --column id
