touch a.png
dapple show mixed.dbdf -o a.png --force && head -c 4 a.png | od -An -c
