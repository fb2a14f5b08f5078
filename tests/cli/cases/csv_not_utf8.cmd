printf 'a,b\n1,caf\351\n2,x\n' > t.csv
dapple convert t.csv a.dbdf || echo $?
iconv -f latin1 -t utf-8 t.csv > u.csv
dapple get u.csv
