printf 'id,n\nfirst-id,1\nsecond-id,2\nthird-id,3\n' > f.csv
dapple convert f.csv f.dbdf -q
dapple get f.dbdf --rows 1:2 --column id -o part.dbdf
dapple get part.dbdf
dapple verify part.dbdf --payload -q; echo $?
grep -c -a 'second-id' part.dbdf
grep -c -a 'first-id' part.dbdf
