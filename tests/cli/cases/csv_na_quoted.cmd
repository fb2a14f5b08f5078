printf '"w","day"\n"",""\n"x","2024-01-02"\n' > t.csv
dapple get t.csv
dapple get t.csv --na ''
