printf 'pH,1\n3,0.5\n' > t.csv
dapple convert t.csv t.in; ls t.in 2>/dev/null
dapple get t.csv --header --to futhark-text --drop-labels -o -
