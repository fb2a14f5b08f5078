dapple convert mixed.dbdf a.dbdf --align 48
