#! user nobody
chmod 555 folder
dapple get irregular.dbdf -o folder/a.csv
echo $?
ls folder
chmod 755 folder
