dapple view wide.dbdf -o wide.dbdf.dpp && dapple show wide.dbdf --from-stats --what mean --cols 5:15 --size 40x20
