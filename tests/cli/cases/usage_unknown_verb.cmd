dapple frobnicate mixed.dbdf
