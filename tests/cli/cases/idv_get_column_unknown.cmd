dapple get texts.idv --column Weight
