dapple convert irregular.dbdf - --to csv
