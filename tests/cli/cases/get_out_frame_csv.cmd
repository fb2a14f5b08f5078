dapple get frame.dbdf --output=a.csv && cat a.csv
