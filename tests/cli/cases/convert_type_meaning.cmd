printf 'a,b\n1,10:00:00\n2,0:00:01.5\n' > in.csv
dapple convert in.csv out.dbdf --type a=category --type b=duration -q
dapple info out.dbdf
dapple get out.dbdf
