echo old > a.dbdf; dapple repair cut.dbdf -o a.dbdf; echo $?; cat a.dbdf
