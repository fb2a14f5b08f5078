dapple convert texts.idv a.dbdf; echo $?; ls | grep -c a.dbdf
