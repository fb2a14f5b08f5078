printf 'a\n300\n' > big.csv
dapple convert big.csv a.dbdf --type a=u8
