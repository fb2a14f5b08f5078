dapple info no_columns.dbdf
