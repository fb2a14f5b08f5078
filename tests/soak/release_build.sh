#!/usr/bin/env bash
# Builds the library as users get it, in build-release, and runs the unit tests with it. Each source is
# compiled by itself, which tells of an #include that the others brought where many are compiled as one.
set -eu
cd "$(dirname "$0")/../.."
[ -f build-release/build.ninja ] ||
  meson setup build-release -Dtests=true -Dpython=disabled >/dev/null
ninja -C build-release >/dev/null
meson test -C build-release --no-rebuild --print-errorlogs --suite unit --suite fuzz
