dapple convert irregular.dbdf a.dbdf --plain && dapple blocks a.dbdf
