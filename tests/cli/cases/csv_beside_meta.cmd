echo '{"numRows":1,"numCols":2,"valueType":"f64"}' > out.csv.meta
dapple convert irregular.dbdf out.csv
ls out.csv*
dapple convert irregular.dbdf out.csv --force -q
ls out.csv*
# What is read is not what goes away.
printf '1,2\n' > odd.csv.meta
dapple convert odd.csv.meta odd.csv --from csv --force
dapple convert odd.csv.meta odd.csv --to daphne --from csv --force
cat odd.csv.meta
