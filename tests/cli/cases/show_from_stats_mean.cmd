dapple show wide.dbdf --from-stats --what mean
