printf '%%%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 5\n2 3 7\n' > m.mtx
dapple convert m.mtx m.dbdf -q
dapple convert m.mtx m.npy -q
for file in m.dbdf m.npy m.mtx; do
  dapple index --columns -q $file
  dapple info $file | grep column
  dapple info $file --json | grep -o '"column_copy":"[a-z]*"'
done
touch -d 2001-01-01 m.npy
dapple info m.npy | grep column
dapple info m.npy --json | grep -o '"column_copy":"[a-z]*"'
