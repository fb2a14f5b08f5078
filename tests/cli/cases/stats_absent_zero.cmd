dapple stats gap.dbdf --absent zero
