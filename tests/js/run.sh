#!/usr/bin/env bash
# Tests the reader in JavaScript against files that others wrote, against files that dapple makes of cells
# known here, against damaged files, and over HTTP. Needs node; skips without it. The last line counts:
# "N passed, N failed, N skipped".
#
# usage: run.sh [BUILD-FOLDER [CELLS]]      default: build, 60000 cells in each file that is made
set -u
here=$(cd "$(dirname "$0")" && pwd)
dapple=$(realpath "${1:-$here/../../build}/apps/dapple/dapple")

command -v node >/dev/null || { echo "skipped: no node"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
node "$here/all.mjs" "$dapple" "$work" "${2:-60000}"
