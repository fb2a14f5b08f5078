printf '[[1.0,2.0],[3.0,4.0]]' | dapple convert - - --from futhark --to futhark-text | dapple get - --from futhark
