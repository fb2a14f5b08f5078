dapple convert frame.dbdf a.dbdf && dapple get a.dbdf
