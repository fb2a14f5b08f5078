#!/usr/bin/env bash
# Builds dapple-bench with every peer that can be installed, measures everything, and renews the plots
# and RESULTS.md. Takes about half an hour the first time, a quarter of an hour after that. Passes its
# flags to dapple-bench; RESULTS.md is only renewed when everything was measured.
set -eu
cd "$(dirname "$0")/../.."

apps/install_packages.sh bench
if [ ! -f build-bench/build.ninja ]; then
  meson setup build-bench -Dbench=true -Dtests=false >build-bench.log 2>&1 ||
    { cat build-bench.log; rm -f build-bench.log; exit 1; }
  rm -f build-bench.log
fi
ninja -C build-bench

build-bench/apps/bench/dapple-bench --json build-bench/run.json "$@"
case " $* " in
  *" --only"* | *" --quick"* | *" --list"* | *" --help"* | *" -h"*) ;;
  *) apps/bench/publish.py build-bench/run.json ;;
esac
