dapple get gap.dbdf
