dapple blocks cut_header.dbdf
