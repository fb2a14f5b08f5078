dapple convert semicolon.csv a.dbdf --delimiter ';;'
