#!/usr/bin/env bash
# Builds pydapple in the tree and runs its tests.
#
#   tests/python/run.sh [BUILD-FOLDER [FOLDER-OF-A-WATCHED-LIBRARY]]      default: build
#
# With a library that the address sanitizer watches in place of the build's, only the tests that stay
# in one process are run.
#
# What they need comes from the Python package registry, into a venv in the build folder that is kept.
# Ends with "N passed, N failed, N skipped"; where no registry answers, all are skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build}
watched=${2:-}
venv=$build/python-venv

if ! why=$(tests/python/make_venv.sh "$venv"); then
  echo "skipped: pydapple: $why"
  echo "0 passed, 0 failed, $(grep -ho '^def test_' tests/python/test_*.py | wc -l) skipped"
  exit 0
fi
if ! tests/python/build.sh "$build"; then
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
fi
venv=$(cd "$venv" && pwd)
PATH=$venv/bin:$PATH

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export PYTHONPATH=$PWD/$build/apps/python PYTHONDONTWRITEBYTECODE=1
case $build in /*) PYTHONPATH=$build/apps/python ;; esac
suites=(tests/python)
watch=()
if [ -n "$watched" ]; then
  suites=(tests/python/test_{blocks,files,frame,meanings,read_take,slicing,tables,write}.py)
  # The sanitizer looks for the C++ library when it starts, which Python has not loaded then.
  preload=$(ldd "$watched/libdapple.so" | awk '$1 ~ /asan|stdc/ { print $3 }' | tr '\n' ' ')
  watch=(env ASAN_OPTIONS=detect_leaks=0 "LD_PRELOAD=$preload" "LD_LIBRARY_PATH=$watched")
  setarch -R true 2>/dev/null && watch=(setarch -R "${watch[@]}")
fi
"${watch[@]}" "$venv/bin/python" -m pytest -q -p no:cacheprovider -W ignore -rfEs "${suites[@]}" 2>&1 |
  tee "$log"
count() { tail -n 1 "$log" | grep -oE "[0-9]+ $1" | grep -oE '[0-9]+' || echo 0; }
failed=$(($(count failed) + $(count error)))
passed=$(count passed)
[ "$passed" = 0 ] && [ "$failed" = 0 ] && failed=1
echo "$passed passed, $failed failed, $(count skipped) skipped"
[ "$failed" = 0 ]
