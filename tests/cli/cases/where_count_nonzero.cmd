dapple where gap.dbdf ' < 5 ' --absent zero --nonzero --count
