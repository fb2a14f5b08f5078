dapple get texts.idv --cols 0:1
