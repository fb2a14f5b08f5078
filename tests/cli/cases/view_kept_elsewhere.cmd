dapple view mixed.dbdf -o other.dpp
