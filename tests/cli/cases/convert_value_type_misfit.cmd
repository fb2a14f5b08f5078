dapple convert numbers.dbdf a.dbdf --value-type f32; echo $?; ls | grep -c a.dbdf
