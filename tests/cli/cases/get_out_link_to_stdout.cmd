ln -s /proc/self/fd/1 stdout.csv
dapple get irregular.dbdf -o stdout.csv --force > regular
echo $?
readlink stdout.csv
