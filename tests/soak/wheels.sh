#!/usr/bin/env bash
# Builds the wheels, installs each in a venv of its own, and tries there what wheels have beside the
# package: the command, the library, and what both load.
#
#   tests/soak/wheels.sh [FOLDER-OF-WHEELS]
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# = 1 ]; then cp -r "$1" "$work/wheels"; else apps/python/build_wheels.sh "$work/wheels"; fi
cd "$work"
for wheel in wheels/*.whl; do
  python=$(ls "$HOME"/.pyenv/versions/3."$(grep -oP 'cp3\K\d+' <<<"$wheel" | head -n 1)".*/bin/python 2>/dev/null | head -n 1)
  [ -n "$python" ] || python=python3.$(grep -oP 'cp3\K\d+' <<<"$wheel" | head -n 1)
  rm -rf venv
  "$python" -m venv venv
  venv/bin/pip install -q "$wheel" scipy pandas pyarrow
  venv/bin/python - <<'TRY'
import time
begin = time.perf_counter()
import numpy as np, pydapple as dp
import scipy.sparse as sp
print("import", round(time.perf_counter() - begin, 2), "s")
cells = sp.random_array((500, 300), density=0.1, format="csr", rng=np.random.default_rng(1))
dp.write("m.dbdf", cells, pack="fast", overwrite=True)
assert (dp.open("m.dbdf").to_scipy() != cells).nnz == 0
TRY
  [ "$(venv/bin/dapple --version)" = "$(venv/bin/python -c 'import pydapple; print("dapple", pydapple.__version__)')" ]
  venv/bin/dapple info m.dbdf | grep -q "500 x 300"
  # An address that is printed is one that is served.
  rm -f address
  venv/bin/dapple serve m.dbdf >address & server=$!
  for _ in $(seq 50); do [ -s address ] && break; sleep 0.1; done
  "$python" -c "import sys, urllib.request as u; u.urlopen(sys.argv[1].rstrip('/') + '/zarr.json').read()" \
    "$(grep -o 'http://[^ ]*' address | head -n 1)"
  kill -INT $server
  wait $server || true
  echo "$wheel: good"
done
