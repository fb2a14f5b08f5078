dapple info --json=yes mixed.dbdf
