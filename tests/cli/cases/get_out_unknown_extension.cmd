dapple get irregular.dbdf -o a.txt 2>&1 | sed 's/FORMAT (.*)/FORMAT (FORMATS)/'; ls | grep -c a.txt
