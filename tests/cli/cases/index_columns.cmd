dapple index --columns many.dbdf && ls many.* && dapple info many.dbdf | tail -n 2 && dapple verify --payload many.dbdf && dapple get many.dbdf.dpc --cols 7:10 && dapple get many.dbdf | tail -n 1
