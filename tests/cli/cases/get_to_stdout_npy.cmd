dapple get irregular.dbdf --to npy | tail -c 18 | od -An -tu2
