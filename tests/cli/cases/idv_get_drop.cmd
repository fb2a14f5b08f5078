dapple get texts.idv --drop-unsupported
