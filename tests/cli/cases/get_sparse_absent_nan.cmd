dapple get irregular.dbdf --sparse --absent nan
