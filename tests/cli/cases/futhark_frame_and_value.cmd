dapple get values.in --frame --value 1
