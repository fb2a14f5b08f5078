dapple convert gap.dbdf a.dbdf --absent zero && dapple get a.dbdf
