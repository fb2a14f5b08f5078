#!/usr/bin/env bash
# Runs the unit tests and the fuzz targets' replays with a library that the address and undefined-behaviour
# sanitizers watch, from build-asan, in place of their own: compiling only that takes half the time. One
# program is watched itself, for what the public headers compile into their users. The last line counts.
#
#   sanitizers.sh BUILD-FOLDER
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
build=$(realpath --relative-to=. "$build")
# Under sanitizers g++ 12 takes every std::optional for uninitialised. Checks that cost a fifth of the time
# each are left to the fuzz targets' own build.
arguments=(-Dtests=true -Dpython=disabled -Dunity=on -Dunity_size=8 -Db_sanitize=address,undefined
  -Db_lundef=false -Doptimization=g
  "-Dcpp_args=['-fno-sanitize-recover=all', '-fno-sanitize=null,object-size,vptr,pointer-overflow', '-Wno-maybe-uninitialized']")
if [ -f build-asan/build.ninja ]; then
  meson configure build-asan "${arguments[@]}"
else
  meson setup build-asan "${arguments[@]}" >/dev/null
fi
ninja -C build-asan internal_library tests/fuzz/replay_views >/dev/null

watched=$PWD/build-asan/lib
LD_LIBRARY_PATH=$watched ldd "$build/tests/unit" | grep -qF "$watched/libdapple_internal.so"
sanitizer=$(ldd "$watched/libdapple_internal.so" | awk '$1 ~ /asan/ { print $3 }')
# Sanitizers of this age cannot map their shadow on kernels that randomise addresses a lot.
fixed=()
setarch -R true 2>/dev/null && fixed=(setarch -R)
# A short quarantine of freed memory spares a third of the time in the kernel, for fresh pages.
export ASAN_OPTIONS=quarantine_size_mb=16
logs=("build-asan/meson-logs/testlog.json" "$build/meson-logs/testlog-asan-env.json")
rm -f "${logs[@]}"
"${fixed[@]}" meson test -C build-asan --no-rebuild fuzz_views || true
"${fixed[@]}" meson test -C "$build" --no-rebuild --suite unit --suite fuzz --logbase testlog-asan \
  --timeout-multiplier 3 --wrapper "env LD_PRELOAD=$sanitizer LD_LIBRARY_PATH=$watched" || true
python3 tests/count.py "${logs[@]}"
