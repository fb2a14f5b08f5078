printf 't,n\n1677-09-21T00:12:43.145224193,1\n2262-04-11T23:47:16.854775807,2\n,3\n' > t.csv
dapple convert t.csv t.dbdf --type t=timestamp && dapple get t.dbdf && dapple stats t.dbdf --json
