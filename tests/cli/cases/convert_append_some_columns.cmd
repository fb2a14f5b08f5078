printf 'a,b\n1,2\n' > a.csv
dapple convert a.csv out.dbdf --append --column a
