printf 'who,n\nAnn,1\nBob,2\nAnn,3\n' > people.csv
dapple convert people.csv people.mtx --stored-numbers --drop-labels -q
cat people.mtx
