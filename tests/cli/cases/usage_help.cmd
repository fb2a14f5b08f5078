dapple --help
