printf 'who,born,member,since,height\nAnn,1990-03-04,true,2020-01-01T10:00:00Z,1.7\nBob,,false,2021-06-30T00:00:00.5Z,\n' > people.csv
dapple convert people.csv people.dbdf -q
dapple info people.dbdf
dapple info people.dbdf --json
dapple get people.dbdf
