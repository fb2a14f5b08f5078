dapple where --help
