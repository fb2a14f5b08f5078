dapple get texts.idv -o a.csv; echo $?; ls | grep -c a.csv
