dapple get irregular.dbdf -o a.npy && od -An -c a.npy | head -n 4 && tail -c 18 a.npy | od -An -tu2
