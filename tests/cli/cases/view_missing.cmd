dapple view nowhere.dbdf
