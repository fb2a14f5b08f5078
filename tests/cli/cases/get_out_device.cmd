dapple get irregular.dbdf -o /dev/null --to csv --force; echo $?; test -c /dev/null
