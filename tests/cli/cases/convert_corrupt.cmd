dapple convert cut.dbdf a.dbdf; echo $?; ls -A | grep -c a.dbdf
