dapple convert texts.idv a.dbdf --column Value && dapple get a.dbdf
