dapple blocks --help
