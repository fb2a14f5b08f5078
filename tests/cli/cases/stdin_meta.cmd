printf '{"numRows":1,"numCols":2,"schema":[{"label":"x","valueType":"si64"},{"label":"y","valueType":"si64"}]}' > stdin.meta
printf '1,2\n' | dapple get - --from csv
cp stdin.meta named.csv.meta
printf '1,2\n' > named.csv
dapple get named.csv
