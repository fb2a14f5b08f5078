printf "%%%%MatrixMarket matrix coordinate real general\n0 3 0\n" > no_rows.mtx
for out in a.png a.svg; do dapple show no_rows.mtx -o $out; echo "status $?"; done
