dapple index -q --columns mixed.dbdf; touch mixed.dbdf; dapple info mixed.dbdf | tail -n 1; dapple verify mixed.dbdf; dapple get mixed.dbdf --rows :1
