dapple get frame.dbdf --sparse
