dapple convert --help
