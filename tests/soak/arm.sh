#!/usr/bin/env bash
# The unit tests on a 64-bit ARM processor, which qemu plays: code for which x86 has its own vectors.
# Takes an hour. Exits with 77, skipped, where Debian's cross compiler and these are not installed:
#
#   dpkg --add-architecture arm64 && apt-get update && apt-get install g++-aarch64-linux-gnu \
#     qemu-user-static doctest-dev lib{xxhash,deflate,zstd,tbb,fmt,png,cpp-httplib}-dev:arm64 \
#     zlib1g-dev:arm64 libcurl4-openssl-dev:arm64 libblosc1:arm64
set -eu
cd "$(dirname "$0")/../.."
libraries=/usr/lib/aarch64-linux-gnu
for needed in "$(command -v aarch64-linux-gnu-g++)" "$(command -v qemu-aarch64-static)" $libraries/libcpp-httplib.so; do
  [ -e "$needed" ] || { echo "skipped: no cross compiler, qemu or libraries for ARM"; exit 77; }
done

made=$PWD/build-arm-cross
mkdir -p "$made"
# Debian's doctest tells of itself to CMake only, which does not look elsewhere than at home.
printf 'Name: doctest\nDescription: tests\nVersion: 2.4.9\n' >"$made/doctest.pc"
cat >"$made/arm.txt" <<CROSS
[binaries]
cpp = 'aarch64-linux-gnu-g++'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64-static', '-L', '/']
[properties]
pkg_config_libdir = ['$libraries/pkgconfig', '/usr/share/pkgconfig', '$made']
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
CROSS
[ -f build-arm/build.ninja ] ||
  meson setup build-arm --cross-file "$made/arm.txt" -Dtests=true -Dpython=disabled -Doptimization=1 -Ddebug=false \
    -Dunity=on -Dunity_size=8 >/dev/null
ninja -C build-arm tests/unit tests/no_memory
# qemu passes no advice on maps to the system.
for program in unit no_memory; do
  qemu-aarch64-static "build-arm/tests/$program" --test-case-exclude='residency:*'
done
