dapple verify twice.dbdf --payload
