printf 'who,born,team,member,since,height\nAnn,1990-03-04,a,true,2020-01-01T10:00:00Z,1.7\nBob,,a,false,2021-06-30T00:00:00.5Z,\nCy,1990-03-06,b,true,,1.5\nDi,,b,true,,\n' > people.csv
dapple stats people.csv
dapple stats people.csv --json
dapple stats people.csv --by column --json > by_column
dapple stats people.csv --json | cmp - by_column
dapple stats people.csv --by row
