#!/usr/bin/env bash
# Runs the tests of pydapple that stay in one process with the library that sanitizers watch, in
# build-asan, which sanitizers.sh makes.
#
#   watched_python.sh BUILD-FOLDER
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
[ -f build-asan/build.ninja ] || { echo "there is no build-asan: run tests/soak/sanitizers.sh first"; exit 1; }
ninja -C build-asan library
tests/python/run.sh "$build" "$PWD/build-asan/lib"
