dapple convert irregular.dbdf a.xyz --to csv && cat a.xyz
