dapple get gap.dbdf --absent zero
