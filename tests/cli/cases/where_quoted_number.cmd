printf 'w,n\nx,5\n' > w.csv
dapple where w.csv '== "5"' --column n
dapple where mixed.dbdf '== "5"'
