dapple view csr.dbdf -o csr.dbdf.dpp
head -c 900 csr.dbdf.dpp >short && mv short csr.dbdf.dpp
dapple show csr.dbdf --from-stats --size 40x18
