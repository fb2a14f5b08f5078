printf 'w\nNA\n"NA"\n"""q"""\nq\nx..y\n' > w.csv
dapple get w.csv
dapple where w.csv '== "NA"' --column w
dapple where w.csv '== NA' --column w
dapple where w.csv '== """q"""' --column w
dapple where w.csv '== "q"' --column w
dapple where w.csv missing --column w
dapple where w.csv '"q".."x..z"' --column w
dapple where w.csv 'q .. "x..y" ' --column w
dapple where w.csv '"".."Z"' --column w
