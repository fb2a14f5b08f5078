dapple convert vectors.idv a.dbdf; echo $?; ls | grep -c a.dbdf
dapple convert vectors.idv a.dbdf --drop-unsupported -q; dapple get a.dbdf
