dapple get irregular.dbdf -o a 2>&1 | sed 's/end it in .* or/end it in NAMES or/'
