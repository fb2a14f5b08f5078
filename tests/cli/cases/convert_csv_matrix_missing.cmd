printf '1,2\n3,\n' > in.csv
dapple convert in.csv out.dbdf
