dapple get irregular.dbdf -o a.txt 2>&1 | sed 's/one of .*/one of FORMATS/'; ls | grep -c a.txt
