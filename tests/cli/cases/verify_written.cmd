dapple convert mixed.dbdf a.dbdf -q && dapple verify a.dbdf --payload
