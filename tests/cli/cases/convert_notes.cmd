printf 'who,took,x\nAnn,00:00:05,NA\nBob,NA,0.5\n' > t.csv
dapple convert t.csv t.dbdf --type took=duration -q
dapple convert t.dbdf a.csv && cat a.csv
dapple get t.dbdf -o b.csv
dapple get t.dbdf -o c.csv -q
dapple get t.dbdf --column x -o x.npy
dapple get t.dbdf
