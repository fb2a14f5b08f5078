printf 'a,b\n1,x\n2,\303\251\n' | iconv -f utf-8 -t UTF-16 > t.csv
dapple get t.csv || echo $?
iconv -f UTF-16 -t UTF-8 t.csv > u.csv
dapple get u.csv
