dapple where gap.dbdf nan --absent zero --count --json
