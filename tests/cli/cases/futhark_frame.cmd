printf "[1,2,3]\n[0.5,1.5,2.5]\n" > v.in; dapple get v.in --frame
