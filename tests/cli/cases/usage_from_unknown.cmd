dapple info --from xls mixed.dbdf 2>&1 | sed 's/one of .*, not/one of FORMATS, not/'
