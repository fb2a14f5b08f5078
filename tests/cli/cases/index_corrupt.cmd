dapple index cut.dbdf; echo $?; ls cut.*
