printf 'w,b\napple,true\nberry,\n' > t.csv
dapple convert t.csv a.dbdf -q
LC_ALL=C sed 's/berry/bfrry/' a.dbdf > b.dbdf
dapple repair b.dbdf -o c.dbdf || echo $?
dapple get c.dbdf
dapple verify c.dbdf --payload
