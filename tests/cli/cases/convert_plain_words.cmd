printf 'who,n\nAnn,1\nBob,2\n' > t.csv
dapple convert t.csv t.dbdf --plain; echo $?
dapple convert t.csv t.dbdf --plain --stored-numbers -q && dapple get t.dbdf
