printf 'w,"5"\nNA,1\n"NA",2\n"5",3\n"true",4\n"2024-01-01",5\nx,6\n"",7\n"a ""b"", c",8\n' > nw.csv
dapple where nw.csv '>= ' --column w 2>/dev/null
dapple where nw.csv '>= 2' --column w > hits.csv; cat hits.csv
dapple get nw.csv --column w
dapple get nw.csv --sparse --column w
dapple where nw.csv '<= 1' --column 5
