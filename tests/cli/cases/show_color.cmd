TERM=xterm-256color dapple show mixed.dbdf --what kind --color always --size 30x20
