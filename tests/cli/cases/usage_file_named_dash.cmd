cp irregular.dbdf ./-x && dapple get -- -x && dapple get ./-x
