#!/usr/bin/env bash
# Tests of dapple without what may be left out of it, with the next C++, without assert, with the standard library's
# checks of containers and iterators, by which a search takes as long as a walk, and with variables that hold noise at
# first. Not those of the command line: it serves by a library whose containers have no checks.
set -eu
cd "$(dirname "$0")/../.."
arguments=(-Dtests=true -Dpython=disabled -Dhdf5=disabled -Dcurl=disabled -Doptimization=1 -Db_ndebug=true
  -Dunity=on -Dunity_size=8 -Dcpp_std=none
  "-Dcpp_args=['-std=c++23', '-D_GLIBCXX_DEBUG', '-ftrivial-auto-var-init=pattern']")
if [ -f build-other/build.ninja ]; then
  meson configure build-other "${arguments[@]}"
else
  meson setup build-other "${arguments[@]}" >/dev/null
fi
ninja -C build-other >/dev/null
meson test -C build-other --no-rebuild --print-errorlogs --timeout-multiplier 20 \
  --suite unit --suite fuzz --suite made --suite ranged --suite threads
