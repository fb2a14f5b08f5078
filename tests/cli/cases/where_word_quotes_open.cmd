printf 'w\nx\n' > w.csv
dapple where w.csv '== "x' --column w
dapple where w.csv '== "x" y' --column w
dapple where w.csv '"x"' --column w
dapple where w.csv '"a" b.."c"' --column w
