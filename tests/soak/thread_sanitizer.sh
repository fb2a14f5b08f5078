#!/usr/bin/env bash
# Builds the library under the thread sanitizer, in build-tsan, and runs what has threads.
set -eu
cd "$(dirname "$0")/../.."
# Under sanitizers g++ 12 takes every std::optional for uninitialised.
arguments=(-Dtests=true -Dunity=on -Dunity_size=8 -Db_sanitize=thread -Db_lundef=false -Doptimization=g
  "-Dcpp_args=['-Wno-maybe-uninitialized', '-Wno-tsan']")
if [ -f build-tsan/build.ninja ]; then
  meson configure build-tsan "${arguments[@]}"
else
  meson setup build-tsan "${arguments[@]}" >/dev/null
fi
ninja -C build-tsan tests/threads tests/race >/dev/null
# Sanitizers of this age cannot map their shadow on kernels that randomise addresses a lot.
fixed=()
setarch -R true 2>/dev/null && fixed=(setarch -R)
"${fixed[@]}" meson test -C build-tsan --no-rebuild --print-errorlogs --suite threads
