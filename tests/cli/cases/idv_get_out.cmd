dapple get texts.idv -o texts.npy
echo $?
test -e texts.npy
echo $?
dapple get texts.idv -o texts.csv
cat texts.csv
