dapple info --colour mixed.dbdf
