echo old > a.dbdf; chmod 640 a.dbdf; dapple convert irregular.dbdf a.dbdf --force -q && stat -c %a a.dbdf
