dapple convert mixed.dbdf mixed.dbdf --force --plain && dapple get mixed.dbdf
