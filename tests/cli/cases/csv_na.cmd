printf 'id,n,who\n9007199254740993,1,Ann\nNULL,-999,"NULL"\n' > t.csv
dapple get t.csv --na NULL --na=-999
dapple info t.csv --na NULL --na -999 | head -4
dapple get t.csv
dapple get frame.dbdf --na NULL
