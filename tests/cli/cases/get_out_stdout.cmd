dapple get irregular.dbdf -o - --rows 2:
