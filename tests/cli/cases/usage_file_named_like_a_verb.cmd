cp irregular.dbdf info && dapple get info
