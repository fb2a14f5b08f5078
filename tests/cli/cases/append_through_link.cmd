mkdir store
printf 'x,y\n1,2\n' > t.csv
dapple convert t.csv store/f.dbdf -q
ln -s store/f.dbdf f.dbdf
ln -s ../f.dbdf store/back.dbdf
dapple convert t.csv f.dbdf --append -q
dapple convert t.csv store/back.dbdf --append -q
ls -F f.dbdf store
dapple get store/f.dbdf
ln -s nowhere.dbdf gone.dbdf
dapple convert t.csv gone.dbdf --append
