dapple convert --transpose mixed.dbdf turned.dbdf && dapple get turned.dbdf && dapple get mixed.dbdf
