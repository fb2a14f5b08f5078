dapple convert mixed.dbdf a.dbdf --tile 2x2 && dapple info a.dbdf && dapple get a.dbdf
