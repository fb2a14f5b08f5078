printf 'day,n\n2026-01-01,1\n' > a.csv
printf 'day,n\n2026-01-02,2\n' > b.csv
dapple convert a.csv all.dbdf --append
dapple convert b.csv all.dbdf --append
dapple get all.dbdf
dapple verify all.dbdf --payload
