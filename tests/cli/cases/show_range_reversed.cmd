dapple show gap.dbdf --range 5:1
