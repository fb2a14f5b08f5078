dapple get irregular.dbdf -o a.txt --to csv && cat a.txt
