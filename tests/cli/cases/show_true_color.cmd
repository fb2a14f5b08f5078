COLORTERM=truecolor dapple show irregular.dbdf --color always --size 30x20
