cat mixed.dbdf | dapple info -
