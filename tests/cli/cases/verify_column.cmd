dapple verify column.dbdf; echo $?; dapple verify column.dbdf --payload
