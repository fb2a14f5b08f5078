dapple convert numbers.dbdf a.dbdf --align 1 -q && dapple blocks a.dbdf
