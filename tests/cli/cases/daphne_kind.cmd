printf '0,0,0,0,7\n0,0,0,0,0\n0,0,1.5,0,0\n' > t.csv
dapple convert -q t.csv t.dbdf --to daphne --kind csr
cat t.dbdf.meta; echo
dapple info t.dbdf
dapple convert t.csv t.mtx --kind csr
