dapple get -q values.in --value 0 --type '[]u8' --type '[][]f32' --type i64
