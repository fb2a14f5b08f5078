dapple index --help
