ln -s nowhere a.dbdf
dapple convert irregular.dbdf a.dbdf
echo $?
readlink a.dbdf
