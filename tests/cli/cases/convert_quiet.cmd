dapple convert irregular.dbdf a.dbdf -q && dapple get a.dbdf --rows :1
