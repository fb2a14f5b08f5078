dapple concat --help
