dapple where gap.dbdf 1..2 --absent zero
