dapple convert semicolon.csv a.dbdf --delimiter ';' && dapple get a.dbdf
