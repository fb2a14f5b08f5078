dapple get mixed.dbdf --threads many
