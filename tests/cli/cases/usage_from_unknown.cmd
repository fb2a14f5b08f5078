dapple info --from xls mixed.dbdf
