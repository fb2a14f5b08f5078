dapple get values.in --value -1
