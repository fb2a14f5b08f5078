dapple get values.in --value 0 --type x=u8
