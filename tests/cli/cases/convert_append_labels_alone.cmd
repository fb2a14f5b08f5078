printf 'w,n\nx,1\n' > a.csv
printf 'w,n\n' > none.csv
dapple convert a.csv all.dbdf -q && dapple convert none.csv all.dbdf --append -q && dapple get all.dbdf
