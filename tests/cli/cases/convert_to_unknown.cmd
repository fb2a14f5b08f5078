dapple convert mixed.dbdf a --to xls 2>&1 | sed 's/can are .*/can are FORMATS/'
