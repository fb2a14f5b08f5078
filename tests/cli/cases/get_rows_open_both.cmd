dapple get irregular.dbdf --rows : --cols :
