printf 'x,y\n1,2\n' > t.csv
cat t.csv | dapple get /dev/stdin --from csv
dapple get /dev/stdin --from csv < t.csv
mkfifo p.csv
(cat t.csv > p.csv &)
dapple get p.csv
mkfifo q.csv
(cat t.csv > p.csv; cat t.csv > q.csv) & dapple concat p.csv q.csv -o both.dbdf -q
dapple get both.dbdf
cat t.csv | dapple verify /dev/stdin
