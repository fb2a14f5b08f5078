dapple view csr.dbdf -o csr.dbdf.dpp && dapple verify csr.dbdf; cp csr.dbdf other && mv other csr.dbdf
dapple verify csr.dbdf
