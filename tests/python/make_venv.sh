#!/usr/bin/env bash
# Makes the venv for the Python tests, or brings it up to date; prints why if it cannot.
#
#   tests/python/make_venv.sh VENV
#
# If another call is under way, waits for it.
set -u
venv=$1
needed=(nanobind meson-python numpy scipy pandas polars pyarrow "dask[array]" distributed xarray
  "zarr>=3.0" sparse scikit-learn matplotlib obstore pytest mypy ruff)

mkdir -p "$(dirname "$venv")"
exec 9>"$venv.lock"
flock 9
if [ ! -x "$venv/bin/python" ] && ! /usr/bin/python3 -m venv "$venv" >/dev/null 2>&1; then
  echo "python3-venv is not installed"
  exit 1
fi
if [ "$(cat "$venv/installed" 2>/dev/null)" != "${needed[*]}" ]; then
  if ! "$venv/bin/pip" install -q --no-compile --disable-pip-version-check "${needed[@]}" >&2; then
    echo "the package registry does not answer"
    exit 1
  fi
  echo "${needed[*]}" >"$venv/installed"
fi
