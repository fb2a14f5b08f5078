dapple get irregular.dbdf --to xls 2>&1 | sed 's/one of .*, got/one of FORMATS, got/'
