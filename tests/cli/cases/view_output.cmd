dapple view mixed.dbdf -o a.html && grep -c "<title>mixed.dbdf - dapple</title>" a.html && grep -c "https\?://" a.html
