printf 'w,n\nx,5\n' > w.csv
dapple where w.csv '1..' --column n
dapple where w.csv '..1' --column n
dapple where w.csv 'b..' --column w
dapple where mixed.dbdf '..1'
dapple where mixed.dbdf '..'
