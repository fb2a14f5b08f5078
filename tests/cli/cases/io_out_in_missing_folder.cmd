dapple get irregular.dbdf -o missing/a.csv; echo $?; ls missing 2>/dev/null
