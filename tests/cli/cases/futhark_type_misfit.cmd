dapple get -q values.in --value 0 --type '[][]u8'
