dapple convert --transpose frame.dbdf turned.dbdf; dapple convert --transpose mixed.dbdf turned.npy
