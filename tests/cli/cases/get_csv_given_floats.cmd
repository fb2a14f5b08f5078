printf 'x,y\n0.5,1\nNA,2\n' > n.csv
dapple get n.csv --type x=f64
dapple get n.csv --type '*=f32'
dapple get n.csv --type x=f64 --missing nan
dapple info n.csv --type x=f32 | grep ' x'
dapple convert n.csv all.dbdf -q && dapple convert n.csv all.dbdf --append --type x=f64 -q && dapple get all.dbdf
dapple convert n.csv half.dbdf --type x=f32 -q && dapple convert n.csv half.dbdf --append --type x=f32 -q
dapple info half.dbdf | grep ' x'
dapple where half.dbdf missing --column x
dapple index n.csv --type x=f32 && dapple get n.csv --type x=f32
