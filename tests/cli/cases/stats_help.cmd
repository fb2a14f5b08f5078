dapple stats --help
