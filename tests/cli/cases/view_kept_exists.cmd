touch mixed.dbdf.dpp
dapple view mixed.dbdf -o mixed.dbdf.dpp
