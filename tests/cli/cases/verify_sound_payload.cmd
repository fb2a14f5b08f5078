dapple verify mixed.dbdf --payload
