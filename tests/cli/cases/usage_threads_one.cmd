dapple get gap.dbdf --rows 0:2 --threads 1
