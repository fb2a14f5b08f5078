printf 'w,n\nx,1\n' > a.csv
printf 'w,n\n5,2\n' > b.csv
dapple concat a.csv b.csv -o x.dbdf; echo $?
dapple concat a.csv b.csv -o x.dbdf --type w=text -q && dapple get x.dbdf
