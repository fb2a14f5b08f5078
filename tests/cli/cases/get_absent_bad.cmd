dapple get gap.dbdf --absent one
