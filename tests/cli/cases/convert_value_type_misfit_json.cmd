dapple convert numbers.dbdf a.dbdf --value-type f32 --json
