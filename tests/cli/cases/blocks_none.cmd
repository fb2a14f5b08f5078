dapple blocks none.dbdf
