dapple index irregular.dbdf --from dbdf; dapple index irregular.dbdf --from csv; echo $?
