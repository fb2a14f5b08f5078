dapple get irregular.dbdf -o a.txt; echo $?; ls a.txt
