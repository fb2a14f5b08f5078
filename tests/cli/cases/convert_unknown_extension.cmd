dapple convert mixed.dbdf a.xyz
