dapple show big.dbdf --from-stats --size 40x20
