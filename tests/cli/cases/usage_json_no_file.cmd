dapple blocks --json
