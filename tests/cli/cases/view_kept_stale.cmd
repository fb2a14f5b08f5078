dapple view csr.dbdf -o csr.dbdf.dpp
cp csr.dbdf other && mv other csr.dbdf
dapple show csr.dbdf --from-stats --size 40x18
