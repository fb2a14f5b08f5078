dapple convert mixed.dbdf
