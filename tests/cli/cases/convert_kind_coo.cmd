dapple convert mixed.dbdf a.dbdf --kind coo --tile 5x4 --plain && dapple blocks a.dbdf
