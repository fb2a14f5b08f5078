dapple index table.csv; echo $?; ls table.*
