printf 'w,n\n lead,1\nlead,2\ntrail ,3\nlead,4\n"",5\n' > w.csv
dapple convert w.csv w.dbdf -q
dapple where w.dbdf '==  lead' --column w
dapple where w.dbdf '== " lead"' --column w
dapple where w.dbdf '=="trail " ' --column w
dapple where w.dbdf '== ""' --column w
dapple where w.dbdf '== ' --column w --count
