dapple convert irregular.dbdf a.dbdf && dapple get a.dbdf && ls -A | grep -c "^a.dbdf$"
