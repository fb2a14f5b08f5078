printf 'who,ok,day,n,x\n"Ann, B",true,1970-01-01,0,NA\n"",false,NA,5,0.5\nNA,NA,2024-01-02,NA,0\n' > t.csv
dapple get t.csv --sparse
