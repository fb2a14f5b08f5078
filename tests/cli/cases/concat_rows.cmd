printf 'name,n\nAnn,1\nBob,2\n' > a.csv
printf 'name,n\nCy,300\nAnn,4\n' > b.csv
dapple concat a.csv b.csv -o both.dbdf
dapple get both.dbdf
