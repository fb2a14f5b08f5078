dapple get texts.idv --rows 1:2 --to csv
