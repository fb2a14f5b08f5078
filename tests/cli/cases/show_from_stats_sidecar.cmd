dapple index wide.dbdf --stats -q && dapple show wide.dbdf --from-stats --what max --size 60x18
