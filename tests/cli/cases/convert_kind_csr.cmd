dapple convert mixed.dbdf a.dbdf --kind csr --tile 3x2 --plain && dapple blocks a.dbdf
