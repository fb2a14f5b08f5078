dapple convert mixed.dbdf a.xyz 2>&1 | sed 's/one of .*/one of FORMATS/'
