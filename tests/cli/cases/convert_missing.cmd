dapple convert missing.dbdf a.dbdf; echo $?; ls | grep -c a.dbdf
