printf 'n\n9007199254740993\n' > l.csv
printf 'n\n1.5\n' > r.csv
dapple concat l.csv r.csv -o x.dbdf; echo $?
dapple concat l.csv r.csv -o x.dbdf --allow-loss && dapple get x.dbdf
dapple convert l.csv y.dbdf && dapple convert r.csv y.dbdf --append; echo $?
dapple convert r.csv y.dbdf --append --allow-loss && dapple get y.dbdf
