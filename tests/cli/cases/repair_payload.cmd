dapple repair twice.dbdf -o a.dbdf; echo $?; dapple verify a.dbdf --payload
