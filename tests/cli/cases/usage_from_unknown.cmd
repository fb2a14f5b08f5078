dapple info --from xls mixed.dbdf 2>&1 | sed 's/one of .*, got/one of FORMATS, got/'
