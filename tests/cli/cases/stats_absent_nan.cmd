dapple stats gap.dbdf --absent nan
dapple stats gap.dbdf --absent nan --by row
dapple stats gap.dbdf --absent nan --by column
dapple stats gap.dbdf --absent one
