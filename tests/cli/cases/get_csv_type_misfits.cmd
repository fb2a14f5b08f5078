printf 'a\n1.5\n' > a.csv
printf 'a\nyes\n' > b.csv
dapple get a.csv --type a=i32; echo $?
dapple get a.csv --type a=timestamp; echo $?
dapple get b.csv --type a=boolean; echo $?
dapple get b.csv --type a=i32; echo $?
