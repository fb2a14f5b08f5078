dapple convert irregular.dbdf - --to dbdf
