dapple get mixed.dbdf --threads 0
