dapple show --help
