sleep 0.05; dapple index -q irregular.dbdf
printf '\377' | dd of=irregular.dbdf.dpx bs=1 seek=144 conv=notrunc status=none
dapple verify irregular.dbdf; echo $?
dapple get irregular.dbdf; echo $?
