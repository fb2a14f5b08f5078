dapple show nowhere.dbdf
