dapple view mixed.dbdf -o mixed.dbdf.dpp && dapple show mixed.dbdf --from-stats --what max --size 40x20
