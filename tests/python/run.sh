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

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# What Python compiles is kept for the processes that tests start, outside of the tree.
unset PYTHONDONTWRITEBYTECODE
export PYTHONPATH=$PWD/$build/apps/python PYTHONPYCACHEPREFIX=$venv/compiled
case $build in /*) PYTHONPATH=$build/apps/python ;; esac
watch=()
if [ -n "$watched" ]; then
  halves=("$(echo tests/python/test_{blocks,files,frame,meanings,read_take,slicing,tables,write}.py)")
  # The sanitizer looks for the C++ library when it starts, which Python has not loaded then.
  preload=$(ldd "$watched/libdapple.so" | awk '$1 ~ /asan|stdc/ { print $3 }' | tr '\n' ' ')
  watch=(env ASAN_OPTIONS=detect_leaks=0 "LD_PRELOAD=$preload" "LD_LIBRARY_PATH=$watched")
  setarch -R true 2>/dev/null && watch=(setarch -R "${watch[@]}")
else
  # Two processes, since tests often wait: each takes every other file.
  halves=("$(ls tests/python/test_*.py | sed -n 1~2p)" "$(ls tests/python/test_*.py | sed -n 2~2p)")
fi
for half in "${!halves[@]}"; do
  # shellcheck disable=SC2086  # a list of words
  "${watch[@]}" "$venv/bin/python" -m pytest -q -p no:cacheprovider -W ignore -rfEs ${halves[$half]} \
    >"$logs/$half" 2>&1 &
done
wait
cat "$logs"/*
# The last line of each log counts its tests.
count() {
  for log in "$logs"/*; do tail -n 1 "$log"; done | grep -oE "[0-9]+ $1" | awk '{ n += $1 } END { print n + 0 }'
}
failed=$(($(count failed) + $(count error)))
passed=$(count passed)
for log in "$logs"/*; do
  tail -n 1 "$log" | grep -qE '[0-9]+ (passed|failed|error|skipped)' || failed=$((failed + 1))
done
echo "$passed passed, $failed failed, $(count skipped) skipped"
[ "$failed" = 0 ]
