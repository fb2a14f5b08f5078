dapple convert irregular.dbdf a.csv && cat a.csv
