dapple convert gap.dbdf a.dbdf; echo $?; ls -A | grep -c a.dbdf
