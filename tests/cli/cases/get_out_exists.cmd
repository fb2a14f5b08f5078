echo old > a.csv; dapple get irregular.dbdf -o a.csv; echo $?; cat a.csv
