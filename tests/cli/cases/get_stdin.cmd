dapple get - --rows 2: < irregular.dbdf
