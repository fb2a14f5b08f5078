dapple get values.in --value 2 2>/dev/null; dapple get -q values.in --value 1
