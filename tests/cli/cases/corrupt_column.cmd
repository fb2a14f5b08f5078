dapple info column.dbdf >/dev/null && dapple get column.dbdf
