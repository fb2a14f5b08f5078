dapple convert mixed.dbdf a.npy -q; dapple repair a.npy -o b.dbdf; echo $?; test -e b.dbdf && echo there
dapple verify a.npy -q; echo $?
