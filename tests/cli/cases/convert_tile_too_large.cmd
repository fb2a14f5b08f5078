dapple convert mixed.dbdf a.dbdf --tile 1x4294967296
