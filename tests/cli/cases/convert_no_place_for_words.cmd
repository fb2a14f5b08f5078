printf 'who,n\nAnn,1\nBob,2\n' > people.csv
dapple convert people.csv people.btable
