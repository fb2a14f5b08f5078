dapple get irregular.dbdf --to xls 2>&1 | sed 's/one of .*, not/one of FORMATS, not/'
