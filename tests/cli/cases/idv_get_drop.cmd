dapple get texts.idv --drop-unsupported; dapple get vectors.idv --drop-unsupported -q
