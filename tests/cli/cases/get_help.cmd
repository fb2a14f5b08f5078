dapple get --help
