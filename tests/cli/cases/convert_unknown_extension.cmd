dapple convert mixed.dbdf a.xyz 2>&1 | sed 's/end it in .* or/end it in NAMES or/'
