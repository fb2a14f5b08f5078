dapple get irregular.dbdf -o a.txt 2>&1 | sed 's/end it in .* or/end it in NAMES or/'; ls | grep -c a.txt
