dapple info metadata.idv >screen 2>&1 || echo "exit status $?"
tail -1 screen
dapple info metadata.idv --json
