dapple get values.in --value 0
