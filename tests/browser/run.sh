#!/usr/bin/env bash
# Opens pages of `dapple view` in a real browser, and asks its server what no page would ask. Needs
# Debian's chromium, node, and playwright-core of npm; skips without them. The last line counts:
# "N passed, N failed, N skipped".
#
# usage: run.sh [BUILD-FOLDER]      default: build
set -u
here=$(cd "$(dirname "$0")" && pwd)
dapple=$(realpath "${1:-$here/../../build}/apps/dapple/dapple")

skip() { echo "skipped: $*"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
browser=$(command -v chromium) || skip "no chromium (apt install chromium)"
command -v node >/dev/null || skip "no node"
modules=${DAPPLE_NODE_MODULES:-$HOME/.cache/dapple-browser-tests}
if [ ! -d "$modules/node_modules/playwright-core" ]; then
  mkdir -p "$modules" && npm install --silent --no-fund --no-audit --prefix "$modules" \
    playwright-core >/dev/null 2>&1 || skip "no playwright-core, and npm gives none"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 "$here/inputs.py" "$work" || exit 1
PLAYWRIGHT="$modules/node_modules/playwright-core/index.mjs" BROWSER="$browser" \
  node "$here/pages.mjs" "$dapple" "$work"
