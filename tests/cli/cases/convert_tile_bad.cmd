dapple convert mixed.dbdf a.dbdf --tile 3,2
