dapple get gap.dbdf --cell 3,3
