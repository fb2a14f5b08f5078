dapple convert mixed.dbdf a.xyz 2>&1 | sed 's/FORMAT (.*)/FORMAT (FORMATS)/'
