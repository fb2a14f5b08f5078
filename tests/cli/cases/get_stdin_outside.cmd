dapple get - --rows 9: < irregular.dbdf
