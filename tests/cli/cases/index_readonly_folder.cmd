#! user nobody
mv mixed.dbdf folder
chmod 555 folder
dapple index folder/mixed.dbdf
echo $?
ls folder
chmod 755 folder
