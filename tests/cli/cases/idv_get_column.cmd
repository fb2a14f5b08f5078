dapple get texts.idv --column Value; dapple get texts.idv --column Name
