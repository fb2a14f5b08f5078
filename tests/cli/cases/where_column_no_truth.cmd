printf 'name,born,member,took,age\nAnn,1990-03-04,true,00:20:00,41\nBob,2001-06-30,false,01:00:00.5,\n"Li, Wei",2024-01-01,true,36:00:00,30\n,2023-12-31,,,7\n' > people.csv
dapple where people.csv '> true' --column member
