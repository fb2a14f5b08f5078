#!/usr/bin/env bash
# Runs the tests that need anndata and scanpy, which want an older pandas than the others, in a venv of
# their own.
#
#   annotated.sh BUILD-FOLDER
set -eu
build=$(cd "$1" && pwd)
venv=$build/annotated-venv
[ -x "$venv/bin/python" ] || /usr/bin/python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check anndata awkward scanpy h5py "zarr>=3.0.10" "dask[array]" fsspec obstore pytest
cd "$(dirname "$0")/../python"
PYTHONPATH=$build/apps/python PYTHONDONTWRITEBYTECODE=1 "$venv/bin/python" -m pytest -q -p no:cacheprovider \
  test_collection_far.py test_annotated.py test_annotated_random.py test_annotated_written.py test_singlecell_scanpy.py test_zarr.py \
  test_zarr_annotated.py
