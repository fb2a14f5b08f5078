printf 'n,word\n0,"a\033[31m"\n1,""\n2,"say ""hi"""\n' > w.csv
dapple where w.csv '>= ' --column word
