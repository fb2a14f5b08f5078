dapple stats gap.dbdf
