printf 'who,born,n\nAnn,1990-03-04,1\nBob,,2\n' > people.csv
dapple show people.csv --size 60x14
