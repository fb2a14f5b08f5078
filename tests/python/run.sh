#!/usr/bin/env bash
# Builds pydapple in the tree and runs its tests.
#
#   tests/python/run.sh [BUILD-FOLDER]      default: build
#
# What they need comes from the Python package registry, into a venv in the build folder that is kept.
# Ends with "N passed, N failed, N skipped"; where no registry answers, all are skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
venv=$build/python-venv

if ! why=$(tests/python/make_venv.sh "$venv"); then
  echo "skipped: pydapple: $why"
  echo "0 passed, 0 failed, $(grep -ho '^def test_' tests/python/test_*.py | wc -l) skipped"
  exit 0
fi

venv=$(cd "$venv" && pwd)
PATH=$venv/bin:$PATH
# Meson and ninja are the system's: the build folder is shared with the other tests.
meson=/usr/bin/meson
[ -x $meson ] || meson=meson
if [ -f "$build/build.ninja" ]; then
  $meson configure "$build" -Dpython=enabled
else
  $meson setup "$build" -Dpython=enabled >/dev/null
fi
if ! ninja -C "$build" pydapple; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export PYTHONPATH=$PWD/$build/apps/python PYTHONDONTWRITEBYTECODE=1
case $build in /*) PYTHONPATH=$build/apps/python ;; esac
"$venv/bin/python" -m pytest -q -p no:cacheprovider -W ignore -rfEs tests/python 2>&1 | tee "$log"
count() { tail -n 1 "$log" | grep -oE "[0-9]+ $1" | grep -oE '[0-9]+' || echo 0; }
failed=$(($(count failed) + $(count error)))
passed=$(count passed)
[ "$passed" = 0 ] && [ "$failed" = 0 ] && failed=1
echo "$passed passed, $failed failed, $(count skipped) skipped"
[ "$failed" = 0 ]
