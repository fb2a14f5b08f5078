printf '%%%%MatrixMarket matrix coordinate integer general\n4 8 1\n2 1 7\n' > a.mtx
for kind in dense csr coo auto; do
  dapple convert a.mtx a.dbdf --kind $kind --tile 4x4 --plain --force -q && dapple blocks a.dbdf
done
