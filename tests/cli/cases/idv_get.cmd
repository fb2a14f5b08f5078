dapple get texts.idv
