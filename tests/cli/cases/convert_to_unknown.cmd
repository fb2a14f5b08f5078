dapple convert mixed.dbdf a --to xls 2>&1 | sed 's/one of .*, not/one of FORMATS, not/'
