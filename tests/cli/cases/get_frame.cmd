dapple get frame.dbdf
