dapple verify --help
