dapple convert table.csv a.dbdf --type id:i16
