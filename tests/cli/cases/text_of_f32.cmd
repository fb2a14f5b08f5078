# Text has no value types: f32 get the digits that read back to the same f64, wherever cells are printed.
dapple get csr.dbdf --rows 1:
dapple get csr.dbdf --sparse
dapple where csr.dbdf '<1'
dapple where csr.dbdf '<1' --json
dapple convert csr.dbdf csr.mtx && tail -1 csr.mtx
printf 'a\n0.1\nNA\n' > missing.csv
dapple convert missing.csv f32.dbdf --value-type f32 --allow-loss
dapple get f32.dbdf
dapple get f32.dbdf --to csv --short-floats
dapple where f32.dbdf '<1' --column a --json
