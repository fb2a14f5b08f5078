printf '1,2\n,4\n' > m.csv
dapple index m.csv || echo $?
ls m.csv*
dapple index m.csv --missing nan
cp m.csv.dpx before
dapple index m.csv || echo $?
cmp m.csv.dpx before && dapple info m.csv --missing nan | grep -i index
