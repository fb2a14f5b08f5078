dapple repair --help
