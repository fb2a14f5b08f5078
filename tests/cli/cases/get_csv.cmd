dapple get gap.dbdf --rows :2
