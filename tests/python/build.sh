#!/usr/bin/env bash
# Builds pydapple in a build folder, with the packages of the venv there; does nothing when that was done.
#
#   tests/python/build.sh [BUILD-FOLDER [configure]]      default: build
#
# With `configure` that is all it does, for tests to be run from the folder while the rest is built.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
tests/python/make_venv.sh "$build/python-venv"
PATH=$(cd "$build/python-venv" && pwd)/bin:$PATH
# Tests may be running from the folder, which must not be configured beside them.
ninja -C "$build" -n pydapple 2>/dev/null | grep -q "no work to do" && exit 0
# Meson and ninja are the system's: the build folder is shared with the other tests.
meson=/usr/bin/meson
[ -x $meson ] || meson=meson
if [ ! -f "$build/build.ninja" ]; then
  $meson setup "$build" -Dpython=enabled >/dev/null
elif ! ninja -C "$build" -t query pydapple >/dev/null 2>&1; then
  $meson configure "$build" -Dpython=enabled
  ninja -C "$build" build.ninja
fi
[ "${2:-}" = configure ] || ninja -C "$build" pydapple
