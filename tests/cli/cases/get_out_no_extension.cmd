dapple get irregular.dbdf -o a 2>&1 | sed 's/FORMAT (.*)/FORMAT (FORMATS)/'
