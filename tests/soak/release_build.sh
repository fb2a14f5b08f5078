#!/usr/bin/env bash
# Builds the library as users get it, in build-release, and runs the unit tests with it.
set -eu
cd "$(dirname "$0")/../.."
[ -f build-release/build.ninja ] ||
  meson setup build-release -Dtests=true -Dpython=disabled -Dunity=on -Dunity_size=8 >/dev/null
ninja -C build-release >/dev/null
meson test -C build-release --no-rebuild --print-errorlogs --suite unit --suite fuzz
