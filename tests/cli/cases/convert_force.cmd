echo old > a.dbdf; dapple convert irregular.dbdf a.dbdf --force && dapple get a.dbdf --rows :1
