dapple convert mixed.dbdf mixed.dbdf
