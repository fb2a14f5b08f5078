dapple convert mixed.dbdf a.dbdf -q; dapple index a.dbdf; echo $?; ls a.*
