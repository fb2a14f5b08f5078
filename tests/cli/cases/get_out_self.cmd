dapple get irregular.dbdf --rows 2: -o irregular.dbdf --force && dapple get irregular.dbdf
