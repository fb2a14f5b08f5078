dapple convert irregular.dbdf -
