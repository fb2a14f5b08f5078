head -c -1 mixed.dbdf > short.dbdf
dapple get short.dbdf
