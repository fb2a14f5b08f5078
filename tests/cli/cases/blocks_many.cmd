dapple blocks many.dbdf | sed -n "1,3p;10000,10002p;\$p"
