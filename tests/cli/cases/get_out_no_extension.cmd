dapple get irregular.dbdf -o a 2>&1 | sed 's/one of .*/one of FORMATS/'
