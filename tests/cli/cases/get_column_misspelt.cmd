dapple get table.csv --column Wieght
