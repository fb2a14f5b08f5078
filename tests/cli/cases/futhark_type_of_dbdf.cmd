dapple get mixed.dbdf --type '[][]f32'
