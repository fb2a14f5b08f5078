dapple repair noise.dbdf -o a.dbdf; echo $?; ls | grep -c a.dbdf
