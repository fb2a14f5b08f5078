dapple convert mixed.dbdf a.dbdf --kind dense --tile 5x4 --plain && dapple blocks a.dbdf
