#! user nobody
chmod 0 mixed.dbdf
dapple info mixed.dbdf
