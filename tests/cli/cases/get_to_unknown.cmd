dapple get irregular.dbdf --to xls 2>&1 | sed 's/can are .*/can are FORMATS/'
