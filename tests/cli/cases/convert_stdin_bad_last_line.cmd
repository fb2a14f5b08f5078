printf "1,2\n3,x\n4\n" | dapple convert - a.dbdf --from csv; echo $?; ls -A | grep -c a.dbdf
