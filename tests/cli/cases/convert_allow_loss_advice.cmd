printf '300.5\n' > half.csv
dapple convert half.csv a.dbdf
dapple convert a.dbdf b.dbdf --value-type u16
dapple convert a.dbdf b.dbdf --value-type u8
