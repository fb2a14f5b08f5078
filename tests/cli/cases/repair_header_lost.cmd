dapple repair cut_header.dbdf -o a.dbdf; echo $?; ls | grep -c a.dbdf
