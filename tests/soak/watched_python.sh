#!/usr/bin/env bash
# Runs the tests of pydapple that stay in one process with the library that sanitizers watch, which
# tests/run.sh builds in build-asan.
#
#   watched_python.sh BUILD-FOLDER
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
[ -f build-asan/lib/libdapple.so ] || { echo "there is no build-asan: run tests/run.sh first"; exit 1; }
tests/python/run.sh "$build" "$PWD/build-asan/lib"
