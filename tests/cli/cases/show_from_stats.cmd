dapple show csr.dbdf --from-stats --size 40x18
