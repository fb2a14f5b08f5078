for size in 1x1 5x3 9x6 16x5 20x9 30x20; do echo "size $size"; dapple show many.dbdf --size $size; done
dapple show no_columns.dbdf --size 12x2
