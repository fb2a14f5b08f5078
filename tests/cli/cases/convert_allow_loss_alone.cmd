dapple convert mixed.dbdf a.dbdf --allow-loss
