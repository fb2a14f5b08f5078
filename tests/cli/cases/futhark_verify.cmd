dapple verify values.in --payload
