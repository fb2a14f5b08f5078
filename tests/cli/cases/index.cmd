dapple index many.dbdf && ls many.* && dapple info many.dbdf | tail -n 1
