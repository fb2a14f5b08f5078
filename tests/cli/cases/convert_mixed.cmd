dapple convert mixed.dbdf a.dbdf --tile 2x2 && dapple info a.dbdf | sed 1d && dapple get a.dbdf
