dapple get irregular.dbdf -o a.mtx && cat a.mtx
