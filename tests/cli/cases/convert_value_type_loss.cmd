dapple convert numbers.dbdf a.dbdf --value-type f32 --allow-loss && dapple get a.dbdf
