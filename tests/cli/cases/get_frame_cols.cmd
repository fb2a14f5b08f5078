dapple get frame.dbdf --cols 1:3
