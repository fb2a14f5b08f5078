dapple view --help
