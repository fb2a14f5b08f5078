dapple convert mixed.dbdf a.dbdf --align 4194304
