dapple get mixed.dbdf/a.dbdf
