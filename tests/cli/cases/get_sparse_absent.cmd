dapple get gap.dbdf --sparse
