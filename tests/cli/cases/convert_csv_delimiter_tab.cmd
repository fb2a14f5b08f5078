printf 'a\tb\n1\t2\n' > t.csv; dapple convert t.csv a.dbdf --delimiter tab -q && dapple get a.dbdf
