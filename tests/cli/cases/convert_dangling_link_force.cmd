ln -s nowhere a.dbdf
dapple convert irregular.dbdf a.dbdf --force && dapple get a.dbdf --rows :1
test -L a.dbdf; echo $?; ls | grep -c nowhere
