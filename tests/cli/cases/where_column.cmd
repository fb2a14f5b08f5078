printf 'name,born,member,took,age\nAnn,1990-03-04,true,00:20:00,41\nBob,2001-06-30,false,01:00:00.5,\n"Li, Wei",2024-01-01,true,36:00:00,30\n,2023-12-31,,,7\n' > people.csv
dapple convert people.csv people.dbdf -q
dapple where people.dbdf '> 29' --column age
dapple where people.dbdf 'missing' --column age
dapple where people.dbdf '== Li, Wei' --column name
dapple where people.csv '>= Bob' --column name
dapple where people.dbdf missing --column name
dapple where people.dbdf '>= 2001-06-30' --column born
dapple where people.csv 2000-01-01..2023-12-31 --column born
dapple where people.dbdf '== true' --column member
dapple where people.dbdf '< 3 days' --column took
