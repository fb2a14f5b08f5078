echo old > a.dbdf; dapple convert irregular.dbdf a.dbdf --json
