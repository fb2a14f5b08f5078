printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 5\n' >z.mtx && dapple index z.mtx
printf '[[1, 2], [3, 4]]\n' >z.in && dapple index z.in
gzip -c z.mtx >z.mtx.gz && dapple index z.mtx.gz
dapple convert z.mtx z.npy -q && dapple index z.npy
