dapple convert mixed.dbdf a.dbdf --kind sparse
