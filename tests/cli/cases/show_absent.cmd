dapple show gap.dbdf --size 40x22
