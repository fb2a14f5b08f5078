dapple convert vectors.idv a.dbdf --drop-unsupported && dapple get a.dbdf
