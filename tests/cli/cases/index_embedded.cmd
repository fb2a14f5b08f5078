dapple convert mixed.dbdf a.dbdf -q; dapple index a.dbdf; echo $?; ls a.*
dapple index --force a.dbdf; echo $?; ls a.*
