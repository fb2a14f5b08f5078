dapple get csr.dbdf --sparse --short-floats
printf 'a\n0.1\nNA\n' > missing.csv
dapple convert -q missing.csv f32.dbdf --value-type f32 --allow-loss
dapple get f32.dbdf --sparse --short-floats
