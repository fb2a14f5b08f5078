printf 'id,n\n9007199254740993,1\n,2\n' > x.csv
printf 'id,n\n1,3\n,4\n' > d.csv
dapple get x.csv --type id=i64
dapple convert x.csv all.dbdf -q && dapple convert d.csv all.dbdf --append --type id=i64 -q && dapple get all.dbdf
printf 'id\nNA\n-128\n' > mark.csv
dapple get mark.csv --type id=i8
echo $?
