dapple get noise.dbdf
