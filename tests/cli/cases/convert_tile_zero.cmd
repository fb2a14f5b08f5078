dapple convert mixed.dbdf a.dbdf --tile 0x2
