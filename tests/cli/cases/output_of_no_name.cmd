dapple get irregular.dbdf -o ''
echo $?
dapple repair irregular.dbdf -o ''
echo $?
