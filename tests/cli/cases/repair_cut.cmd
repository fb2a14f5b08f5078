dapple repair cut.dbdf -o a.dbdf; echo $?; dapple get a.dbdf --absent zero; dapple verify a.dbdf --payload
