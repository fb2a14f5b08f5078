dapple info labels.dbdf
