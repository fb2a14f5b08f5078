dapple get values.in
