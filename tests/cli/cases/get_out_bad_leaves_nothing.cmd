dapple get gap.dbdf -o a.csv; echo $?; ls -A | grep -c a.csv
