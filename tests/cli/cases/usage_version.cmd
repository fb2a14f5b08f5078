dapple --version
