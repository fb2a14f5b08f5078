dapple verfy mixed.dbdf
