# Delimited text under another name is not read, but advice says how.
printf 'a,b\n1,2\n' > t.txt; dapple info t.txt
printf 'a;b\n1;2\n' > t.dat; dapple info t.dat --json
printf '1\t2\n' > u.dat; dapple info u.dat; dapple get u.dat --from csv
printf 'Dear reader\n' > v.txt; dapple info v.txt 2>&1 | sed 's/reads .*;/reads NAMES;/'
