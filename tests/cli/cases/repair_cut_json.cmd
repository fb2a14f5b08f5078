dapple repair cut.dbdf -o a.dbdf --json | sed 's/"bytes":[0-9]*/"bytes":N/'
