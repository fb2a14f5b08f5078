dapple get values.in --value 7
