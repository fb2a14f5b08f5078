ln -s /dev/null a.csv
dapple get irregular.dbdf -o a.csv --force
echo $?
readlink a.csv
