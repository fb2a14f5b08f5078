dapple convert texts.idv a.dbdf --drop-unsupported && dapple get a.dbdf
