#! tty 80
printf 'n,word\n0,"a\033[31m"\n' > w.csv
dapple where w.csv '> a' --column word
