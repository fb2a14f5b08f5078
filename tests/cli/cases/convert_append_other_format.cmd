printf '1,2\n' > a.csv
dapple convert a.csv out.npy --append
