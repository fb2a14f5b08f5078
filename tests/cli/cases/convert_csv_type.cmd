dapple convert table.csv a.dbdf --type id=i16 --type note=f32 && dapple info a.dbdf | sed -n 2,5p
